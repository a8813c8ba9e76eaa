"""The small transformer, its characters, its files with their hash, the device it runs on."""

from pglab.lm.devices import choose_device
from pglab.lm.export import export, from_export
from pglab.lm.files import DATA, load, read_card, save
from pglab.lm.model import SmallLM
from pglab.lm.text import ALPHABET, END, decode, decode_all, encode, encode_all

__all__ = [
    "ALPHABET",
    "DATA",
    "END",
    "SmallLM",
    "choose_device",
    "decode",
    "decode_all",
    "encode",
    "encode_all",
    "export",
    "from_export",
    "load",
    "read_card",
    "save",
]
