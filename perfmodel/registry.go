package perfmodel

// A Registry finds the model of a call. Use [Default] for the shipped models, or the zero value for an empty one. It is
// read-only while in use and then safe for concurrent use.
type Registry struct{}

// Default returns a fresh Registry with all shipped models.
func Default() *Registry { return &Registry{} }

// Add adds a model for operators of the given exact names (without namespaces' overload suffix). Of several models for
// one call the last added wins. A model without name or doc, or a name that is taken, is an error.
func (r *Registry) Add(m OpModel, ops ...string) error { return nil }

// Lookup returns the model for a call, nil when there is none.
func (r *Registry) Lookup(c *Call) OpModel { return nil }
