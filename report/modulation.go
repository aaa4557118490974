package report

// findModulation gives the adaLN traffic against what a fused kernel would move.
func (in *analysis) findModulation() {
}
