"""What `perdure retain` reads: texts, standard input, files, folders and chat exports."""
