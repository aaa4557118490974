package report

import "io"

// WriteHTML is replaced below.
func (r *Report) WriteHTML(w io.Writer) error { return nil }
