"""What a pickle would make its reader allocate, told from its opcodes without loading it.

The unpickler keeps a table of what it has read, and grows it to whatever place a pickle names: one
wrong byte can ask for 64 GiB. Newer Pythons do not; until they are the oldest, we look first.
"""

from __future__ import annotations

import struct

# Bytes after an opcode, by how they are laid out (PEP 3154, `pickletools.opcodes`).
_FIXED = {
    **dict.fromkeys(b"Kq\x80\x82h", 1),
    **dict.fromkeys(b"M\x83", 2),
    **dict.fromkeys(b"Jjr\x84", 4),
    **dict.fromkeys(b"G\x95", 8),
}
_LINES = {**dict.fromkeys(b"FILNSVPgp", 1), **dict.fromkeys(b"ci", 2)}
_COUNTED = {
    **dict.fromkeys(b"U\x8c\x8aC", "<B"),
    **dict.fromkeys(b"TX\x8bB", "<I"),
    **dict.fromkeys(b"\x8d\x8e\x96", "<Q"),
}
_PUT_LINE, _LONG_BINPUT, _STOP = b"pr."


def claims_too_much(pickled: bytes) -> bool:
    """Return whether it claims a length, or stores at a place, beyond its own end.

    What else is wrong with it is fine here: loading it will tell.
    """
    at, end = 0, len(pickled)
    while at < end:
        opcode = pickled[at]
        at += 1
        if opcode == _STOP:
            return False
        if opcode in _FIXED:
            if opcode == _LONG_BINPUT and int.from_bytes(pickled[at : at + 4], "little") > end:
                return at + 4 <= end
            at += _FIXED[opcode]
        elif opcode in _COUNTED:
            layout = _COUNTED[opcode]
            size = struct.calcsize(layout)
            if at + size > end:
                return False
            at += size + int(struct.unpack_from(layout, pickled, at)[0])
            if at > end:
                return True
        elif opcode in _LINES:
            for _ in range(_LINES[opcode]):
                line_end = pickled.find(b"\n", at)
                if line_end < 0:
                    return False
                line, at = pickled[at:line_end], line_end + 1
            if opcode == _PUT_LINE and len(line) > len(str(end)):
                return True
    return False
