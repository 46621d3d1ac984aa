"""Claims about the results of a study, judged under every reading of what they leave open."""
