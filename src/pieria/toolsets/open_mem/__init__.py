"""open-mem's ten tools: find, history and get; create, revise and remove; export and import; folder context; help."""
