// A transport without Gloo, in place of the project's own file: what ranks have goes through the group's store.
#include <c10/util/Exception.h>

#include "distributed/transport.h"
#include "memory/allocator.h"

namespace torch_DEVICE {
namespace {

using c10d::OpType;
using Bytes = std::vector<uint8_t>;

class StoreTransport : public Transport {
 public:
  explicit StoreTransport(const Members& members) : members_(members) {}

  void enqueue(const Collective& collective, c10::Stream stream, std::shared_ptr<Outcome> outcome) override {
    const c10::Device device = stream.device();
    const std::string key = std::to_string(number_++) + "/";
    const bool gives = collective.type != OpType::BROADCAST || members_.rank == collective.root;
    if (gives) {
      Bytes own;
      for (const Buffer& input : collective.inputs) {
        own.resize(own.size() + input.bytes());
        copy_bytes(own.data() + own.size() - input.bytes(), c10::kCPU, input.data, device, input.bytes());
      }
      members_.store->set(key + std::to_string(members_.rank), own);
    }
    switch (collective.type) {
      case OpType::BARRIER:
        for (int rank = 0; rank < members_.size; ++rank) {
          members_.store->get(key + std::to_string(rank));
        }
        return;
      case OpType::BROADCAST:
        if (!gives) {
          give(members_.store->get(key + std::to_string(collective.root)), collective.outputs[0], device);
        }
        return;
      case OpType::ALLGATHER:
        for (int rank = 0; rank < members_.size; ++rank) {
          give(members_.store->get(key + std::to_string(rank)), collective.outputs[rank], device);
        }
        return;
      default:
        outcome->fail("the store carries no " + c10d::opTypeToString(collective.type));
    }
  }

  void finish() override {}

 private:
  static void give(const Bytes& bytes, const Buffer& output, c10::Device device) {
    copy_bytes(output.data, device, bytes.data(), c10::kCPU, bytes.size());
  }

  const Members members_;
  int number_ = 0;
};

} // namespace

std::unique_ptr<Transport> make_transport(const Members& members) {
  return std::make_unique<StoreTransport>(members);
}

} // namespace torch_DEVICE
