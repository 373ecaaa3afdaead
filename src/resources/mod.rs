//! What the model is told, as reviewable files.
#![forbid(unsafe_code)]
