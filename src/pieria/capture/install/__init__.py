"""The hooks in their hosts' files: put there, looked at, taken away; everything else in those files stays as it is."""
