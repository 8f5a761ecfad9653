"""The lane of answers: conversions that are repeated by the shape of an answer."""
