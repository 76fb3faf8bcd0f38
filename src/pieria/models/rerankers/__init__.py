"""Rerankers that Pieria can call. The registry imports them on demand."""
