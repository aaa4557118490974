package perfmodel

import (
	"errors"
	"fmt"
	"strings"
)

// A Registry finds the model of a call. Use [Default] for the shipped models, or the zero value for an empty one. It is
// read-only while in use and then safe for concurrent use.
type Registry struct {
	entries []Entry
	exact   map[string]int // operator -> the last entry that names it
	loose   []int          // entries with patterns or a predicate, in the order of adding
	names   map[string]bool
}

// An Entry is one model of a Registry with what it is for.
type Entry struct {
	Model    OpModel
	Info     Info
	Ops      []string         // exact names
	Patterns []string         // names with * for any run of characters
	Match    func(*Call) bool // nil when the model was added by name or pattern

	compiled []pattern
}

// forOps is the entry of a model for operators of exact names.
func forOps(i Info, work func(*Call) (Work, error), ops ...string) Entry {
	return Entry{Model: Func(i, work), Ops: ops}
}

// forPatterns is the entry of a model for operators by pattern.
func forPatterns(i Info, work func(*Call) (Work, error), patterns ...string) Entry {
	return Entry{Model: Func(i, work), Patterns: patterns}
}

// Default returns a fresh Registry with all shipped models.
func Default() *Registry {
	r := new(Registry)
	for _, family := range [...][]Entry{
		memcpyModels(), collectiveModels(), tritonModels(), quantizeModels(),
		gemmModels(), aiterModels(), groupedModels(), attentionModels(), normModels(), modulationModels(),
		convModels(), resizeModels(), pointwiseModels(), foreachModels(), reductionModels(), poolModels(),
		copyModels(), gatherModels(), fillModels(),
	} {
		for _, e := range family {
			e.Ops, e.Patterns = alsoWrapped(e.Ops), alsoWrapped(e.Patterns)
			if err := r.add(e); err != nil {
				panic(err) // a fault in our own tables, not in any input
			}
		}
	}
	return r
}

// alsoWrapped adds the names that releases of aiter of 2025 register their operators under (aiter/jit/core.py).
func alsoWrapped(names []string) []string {
	for _, name := range names {
		if op, ok := strings.CutPrefix(name, "aiter::"); ok {
			names = append(names, "aiter::wrapper_"+op)
		}
	}
	return names
}

// Add adds a model for operators of the given exact names, without overload suffix ("aten::add", not
// "aten::add.Tensor"). Of several models for one call the last added wins. A model without name or doc, or a name
// that is taken, is an error.
func (r *Registry) Add(m OpModel, ops ...string) error {
	if len(ops) == 0 {
		return errors.New("perfmodel: a model needs the name of an operator")
	}
	return r.add(Entry{Model: m, Ops: ops})
}

// AddPattern adds a model for operators whose names fit one of the patterns, in which * stands for any run of
// characters. Errors and precedence are those of [Registry.Add].
func (r *Registry) AddPattern(m OpModel, patterns ...string) error {
	if len(patterns) == 0 {
		return errors.New("perfmodel: a model needs a pattern")
	}
	return r.add(Entry{Model: m, Patterns: patterns})
}

// AddFunc adds a model for the calls that match accepts. It must be pure, fast and safe for concurrent use: it is
// asked for every call that no later model claims. Errors and precedence are those of [Registry.Add].
func (r *Registry) AddFunc(m OpModel, match func(*Call) bool) error {
	if match == nil {
		return errors.New("perfmodel: a model needs a predicate")
	}
	return r.add(Entry{Model: m, Match: match})
}

// Lookup returns the model for a call, nil when there is none.
func (r *Registry) Lookup(c *Call) OpModel {
	name := c.Name
	best, ok := r.exact[name]
	if !ok {
		best = -1
		if name = withoutOverload(name); len(name) < len(c.Name) {
			if i, ok := r.exact[name]; ok {
				best = i
			}
		}
	}
	for i := len(r.loose) - 1; i >= 0 && r.loose[i] > best; i-- {
		if r.entries[r.loose[i]].matches(c, name) {
			best = r.loose[i]
			break
		}
	}
	if best < 0 {
		return nil
	}
	return r.entries[best].Model
}

// All returns the models in the order in which they were added, with the names and patterns that they are for.
func (r *Registry) All() []Entry { return append([]Entry(nil), r.entries...) }

func (r *Registry) add(e Entry) error {
	if e.Model == nil {
		return errors.New("perfmodel: no model given")
	}
	e.Info = e.Model.Info()
	if err := r.check(&e); err != nil {
		return fmt.Errorf("perfmodel: model %q: %w", e.Info.Name, err)
	}
	if r.exact == nil {
		r.exact, r.names = make(map[string]int), make(map[string]bool)
	}
	for _, p := range e.Patterns {
		e.compiled = append(e.compiled, compile(p))
	}
	n := len(r.entries)
	for _, op := range e.Ops {
		r.exact[op] = n
	}
	if len(e.Patterns) > 0 || e.Match != nil {
		r.loose = append(r.loose, n)
	}
	r.names[e.Info.Name] = true
	r.entries = append(r.entries, e)
	return nil
}

func (r *Registry) check(e *Entry) error {
	switch {
	case e.Info.Name == "":
		return errors.New("without name")
	case strings.TrimSpace(e.Info.Doc) == "":
		return errors.New("without doc")
	case r.names[e.Info.Name]:
		return errors.New("the name is taken")
	}
	seen := make(map[string]bool, len(e.Ops)+len(e.Patterns))
	for _, list := range [...][]string{e.Ops, e.Patterns} {
		for _, op := range list {
			if op == "" || seen[op] {
				return fmt.Errorf("operator %q is empty or given twice", op)
			}
			seen[op] = true
		}
	}
	return nil
}

// matches reports whether the entry is for a call, name being the operator's without overload.
func (e *Entry) matches(c *Call, name string) bool {
	for i := range e.compiled {
		if e.compiled[i].matches(name) {
			return true
		}
	}
	return e.Match != nil && e.Match(c)
}

// withoutOverload cuts ".Tensor" from "aten::add.Tensor", as newer profilers may write it.
func withoutOverload(op string) string {
	if i := strings.Index(op, "::"); i >= 0 {
		if j := strings.IndexByte(op[i:], '.'); j >= 0 {
			return op[:i+j]
		}
	}
	return op
}
