"""Predictions of notebook 08."""
