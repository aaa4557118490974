package ceiling

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// A ConfigError names the file and the field of a configuration that is missing or contradictory.
type ConfigError struct {
	File  string
	Field string
	Why   string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("ceiling: %s: field %q: %s", e.File, e.Field, e.Why)
}

// A config is one JSON file. Its getters remember the first error, so that a reader can ask for all fields and then look
// at err once.
type config struct {
	file   string
	fields map[string]json.RawMessage
	err    error
}

func readConfig(fsys fs.FS, file string) (*config, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("ceiling: %w", err)
	}
	return parseConfig(file, data)
}

func parseConfig(file string, data []byte) (*config, error) {
	c := &config{file: file}
	if err := json.Unmarshal(data, &c.fields); err != nil {
		return nil, fmt.Errorf("ceiling: %s: %w", file, err)
	}
	return c, nil
}

func (c *config) fail(field, format string, args ...any) {
	if c.err == nil {
		c.err = &ConfigError{c.file, field, fmt.Sprintf(format, args...)}
	}
}

func (c *config) has(field string) bool {
	raw, ok := c.fields[field]
	return ok && string(raw) != "null"
}

// class is the Python class that the file configures.
func (c *config) class() string { return c.text("_class_name") }

// maxField bounds sizes. No model is near it, and products of three stay within 64 bits.
const maxField = 1 << 20

// int returns a positive whole number. It must be there.
func (c *config) int(field string) int64 {
	if !c.has(field) {
		c.fail(field, "missing")
		return 1
	}
	var n float64
	if err := json.Unmarshal(c.fields[field], &n); err != nil || n < 1 || n > maxField || n != math.Trunc(n) {
		c.fail(field, "%s is no positive whole number", c.fields[field])
		return 1
	}
	return int64(n)
}

// intOr returns a number, or what diffusers takes when it is not there.
func (c *config) intOr(field string, missing int64) int64 {
	if !c.has(field) {
		return missing
	}
	if string(c.fields[field]) == "0" {
		return 0
	}
	return c.int(field)
}

// float returns a positive number, or what diffusers takes when it is not there.
func (c *config) float(field string, missing float64) float64 {
	if !c.has(field) {
		return missing
	}
	var n float64
	if err := json.Unmarshal(c.fields[field], &n); err != nil || !(n > 0) || n > maxField {
		c.fail(field, "%s is no positive number", c.fields[field])
		return missing
	}
	return n
}

func (c *config) flag(field string) bool { return c.has(field) && string(c.fields[field]) == "true" }

// ints returns a list of positive whole numbers. One number stands for n equal ones when n > 0.
func (c *config) ints(field string, n int) []int64 { return c.list(field, n, 1) }

// counts is ints, of which some may be 0.
func (c *config) counts(field string, n int) []int64 { return c.list(field, n, 0) }

func (c *config) list(field string, n int, least int64) []int64 {
	var list []int64
	if raw := c.fields[field]; n > 0 && c.has(field) && raw[0] != '[' {
		return slices.Repeat([]int64{c.int(field)}, n)
	}
	if !c.has(field) {
		c.fail(field, "missing")
	} else if err := json.Unmarshal(c.fields[field], &list); err != nil || len(list) == 0 {
		c.fail(field, "%s is no list of whole numbers", c.fields[field])
	}
	c.check(field, list, n, least)
	if c.err != nil {
		return make([]int64, max(n, 1))
	}
	return list
}

// check demands a number of entries (0: any up to 16) in a range.
func (c *config) check(field string, list []int64, n int, least int64) {
	for _, v := range list {
		if v < least || v > maxField {
			c.fail(field, "%d is out of range", v)
		}
	}
	if len(list) > 16 {
		c.fail(field, "has %d entries", len(list))
	}
	if n > 0 && len(list) != n {
		c.fail(field, "has %d entries, want %d", len(list), n)
	}
}

// lists returns n lists of positive whole numbers, each of which may be empty.
func (c *config) lists(field string, n int) [][]int64 {
	var lists [][]int64
	if err := json.Unmarshal(c.fields[field], &lists); err != nil || len(lists) != n {
		c.fail(field, "must be %d lists of whole numbers", n)
		return make([][]int64, n)
	}
	for _, list := range lists {
		c.check(field, list, 0, 1)
	}
	return lists
}

// sample returns the rows and columns of latents that the model was trained on, which its pipeline makes when nothing is asked for; 0
// when they are not there.
func (c *config) sample() [2]int64 {
	if !c.has("sample_size") {
		return [2]int64{}
	}
	return [2]int64(c.ints("sample_size", 2))
}

// length returns the number of entries of a list, 0 when it is not there.
func (c *config) length(field string) int64 {
	var list []any
	if c.has(field) {
		if err := json.Unmarshal(c.fields[field], &list); err != nil {
			c.fail(field, "must be a list")
		}
	}
	return int64(len(list))
}

// flags returns n booleans, all true but the first when the field is not there.
func (c *config) flags(field string, n int) []bool {
	list := make([]bool, n)
	for i := range list {
		list[i] = i > 0
	}
	if !c.has(field) {
		return list
	}
	if err := json.Unmarshal(c.fields[field], &list); err != nil || len(list) != n {
		c.fail(field, "must be %d booleans", n)
		return make([]bool, n)
	}
	return list
}

// strings returns n texts. One text stands for n equal ones.
func (c *config) strings(field string, n int) []string {
	var list []string
	var one string
	if json.Unmarshal(c.fields[field], &one) == nil {
		return slices.Repeat([]string{one}, n)
	}
	if err := json.Unmarshal(c.fields[field], &list); err != nil || len(list) != n {
		c.fail(field, "must name %d blocks", n)
		return make([]string, n)
	}
	return list
}

// text returns a text, "" when the field is none or is not there.
func (c *config) text(field string) string {
	var s string
	if json.Unmarshal(c.fields[field], &s) != nil {
		return ""
	}
	return s
}

// equal demands that two fields agree.
func (c *config) equal(field string, got int64, want int64, because string) {
	if got != want {
		c.fail(field, "is %d, but %s makes %d", got, because, want)
	}
}
