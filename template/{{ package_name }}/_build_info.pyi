torch_release: str
op_set: str
fallback: bool
runtime: str
