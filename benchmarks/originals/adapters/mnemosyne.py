"""Lets the tests of Mnemosyne call our toolset."""
