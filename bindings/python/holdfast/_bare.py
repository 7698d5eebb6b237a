# SPDX-License-Identifier: Apache-2.0
"""The shared library with its types: structs as classes, functions with prototypes, made when first used.

Codes of types: d double, f float, i int or enum, u unsigned, z size_t, n ptrdiff_t, Q uint64_t, q int64_t, b bool,
c char, s const char *, P any other pointer, v void; the name of a struct stands for it by value, (code, count) for an
array of them.
"""
import ctypes

_CODES = {"d": ctypes.c_double, "f": ctypes.c_float, "i": ctypes.c_int, "u": ctypes.c_uint, "z": ctypes.c_size_t,
          "n": ctypes.c_ssize_t, "Q": ctypes.c_uint64, "q": ctypes.c_int64, "b": ctypes.c_bool, "c": ctypes.c_char,
          "s": ctypes.c_char_p, "P": ctypes.c_void_p, "v": None}


class Library:
    """Attributes are the library's functions; `struct(name)` makes a zeroed struct that knows its size."""

    def __init__(self, path, structs, enums, functions):
        self._dll = ctypes.CDLL(path)
        self._structs, self._functions, self._classes = structs, functions, {}
        self.enums = enums

    def _type(self, code):
        if isinstance(code, (tuple, list)):
            return self._type(code[0]) * code[1]
        return _CODES[code] if code in _CODES else self.struct_class(code)

    def struct_class(self, name):
        """The ctypes class of a struct."""
        if name not in self._classes:
            fields = [(field, self._type(code)) for field, code in self._structs[name]]
            # Without slots a member that is misspelt would become an attribute of Python's, and say nothing.
            self._classes[name] = type(name, (ctypes.Structure,), {"_fields_": fields, "__slots__": ()})
        return self._classes[name]

    def struct(self, name, **values):
        """A struct: zeroed, its own size in it where it has such a member, then `values`."""
        made = self.struct_class(name)()
        if self._structs[name][0][0] == "size":
            made.size = ctypes.sizeof(made)
        for field, value in values.items():
            setattr(made, field, value)
        return made

    def struct_at(self, name, address):
        """The struct at an address, which must outlive it."""
        return self.struct_class(name).from_address(address)

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(f"the library has no function {name}")
        result, parameters = self._functions[name]
        function = getattr(self._dll, name)
        function.restype = self._type(result)
        function.argtypes = [self._type(code) for code in parameters]
        setattr(self, name, function)
        return function
