"""Rerankers that Pieria can ask. The registry imports each where a name asks for it."""
