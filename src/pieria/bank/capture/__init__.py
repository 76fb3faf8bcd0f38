"""Events from agents, and the lessons drawn from them."""
