"""Evaluation: retain a labelled data file, ask its questions, and measure what comes back."""
