"""One module per stage, one public function each."""
