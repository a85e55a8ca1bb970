//! The model store.
