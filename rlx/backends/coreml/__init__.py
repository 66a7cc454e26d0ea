"""Programs as Core ML packages, through coremltools' builder of MIL; they run on macOS."""
