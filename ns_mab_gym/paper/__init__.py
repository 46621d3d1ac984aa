"""The paper's experiments: the study, what its sentences leave open, the sentences, and what decides them."""
