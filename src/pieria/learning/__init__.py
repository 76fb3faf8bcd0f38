"""From experience to knowledge: what is kept of what agents lived through.

It returns what is to be written and never writes. What was lived is handed in; who asks for it, and when, is decided in
`bank`.
"""
