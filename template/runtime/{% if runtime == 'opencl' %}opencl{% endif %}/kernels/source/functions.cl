// What the contract's formulas call, where OpenCL has no function for it, or one for floats alone. formulas.py has NumPy's
// names for them. They are functions, because a macro would compute an operand again wherever it stands. BOOL and FLOATING
// say what D is.
#define INLINED static inline __attribute__((always_inline))

INLINED C maximum(C a, C b) {
  return MAXIMUM(a, b);
}
INLINED C minimum(C a, C b) {
  return MINIMUM(a, b);
}
// A NaN loses.
INLINED C greater(C a, C b) {
  return a != a ? b : b != b ? a : a > b ? a : b;
}
INLINED C less(C a, C b) {
  return a != a ? b : b != b ? a : a < b ? a : b;
}
INLINED C absolute(C a) {
  return a < 0 ? -a : a == 0 ? 0 : a;
}
INLINED C sign_of(C a) {
  return a != a ? a : (C)((a > 0) - (a < 0));
}
INLINED C square(C a) {
  return a * a;
}
INLINED C cube(C a) {
  return a * a * a;
}

#if BOOL
#define NOT(a) (!(a))
#else
#define NOT(a) (~(a))
#endif

#if FLOATING
#define WHOLE(f, a) f(a)

INLINED int is_nan(C a) {
  return isnan(a);
}
INLINED int is_infinite(C a) {
  return isinf(a);
}
INLINED int is_finite(C a) {
  return isfinite(a);
}
INLINED C divided(C a, C b) {
  return a / b;
}
// Some drivers' tanh stays below 1 for large numbers, and the gradient of mish multiplies what is missing by such a number.
INLINED C saturated_tanh(C a) {
  return fabs(a) > (sizeof(C) == 4 ? 9.1f : 20) ? sign_of(a) : tanh(a);
}
INLINED C power(C a, C b) {
  return pow(a, b);
}
INLINED C modulo(C a, C b) {
  return fmod(a, b);
}
INLINED C python_modulo(C a, C b) {
  const C rest = fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
INLINED C floored(C a, C b) {
  if (b == 0) {
    return a / b;
  }
  const C rest = fmod(a, b);
  C whole = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) {
    whole -= 1;
  }
  if (whole == 0) {
    return copysign((C)0, a / b);
  }
  const C down = floor(whole);
  return whole - down > (C)0.5 ? down + 1 : down;
}
INLINED C sigmoid(C a) {
  return SIGMOID(a);
}
INLINED C logaddexp(C a, C b) {
  return MAXIMUM(a, b) + (a == b ? (C)0.69314718055994530942 : log1p(exp(-fabs(a - b))));
}
INLINED C sinc(C a) {
  return a == 0 ? 1 : sinpi(a) / ((C)3.14159265358979323846 * a);
}
#else
#define WHOLE(f, a) (a)

INLINED int is_nan(C a) {
  return 0;
}
INLINED int is_infinite(C a) {
  return 0;
}
INLINED int is_finite(C a) {
  return 1;
}
// A division by zero, or of the least number by -1, stops some devices.
INLINED C divided(C a, C b) {
  return b == 0 ? 0 : b == -1 ? -a : a / b;
}
INLINED C power(C a, C b) {
  if (b < 0) {
    return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  }
  C result = 1;
  for (; b != 0; b >>= 1, a *= a) {
    if (b & 1) {
      result *= a;
    }
  }
  return result;
}
INLINED C modulo(C a, C b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
INLINED C python_modulo(C a, C b) {
  const C rest = modulo(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}
INLINED C floored(C a, C b) {
  const C whole = divided(a, b);
  return modulo(a, b) != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
}
#endif
