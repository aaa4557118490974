package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ditlens/ditlens/split"
)

// setSplit chooses how steps are found. A marker of the caller's own is a step marker on top of the known ones.
func (o *options) setSplit(mode, marker string) error {
	s, ok := split.ByName(mode)
	if !ok {
		return fmt.Errorf("-split %q: want one of %s", mode, strings.Join(modeNames(), ", "))
	}
	o.analyzer.Split = s
	if marker == "" {
		return nil
	}
	re, err := regexp.Compile(marker)
	if err != nil {
		return fmt.Errorf("-marker: %w", err)
	}
	grammar := append(split.DefaultGrammar(), split.Pattern{Regexp: re, Meaning: split.StepMarker})
	switch mode {
	case "auto":
		o.analyzer.Split = split.Auto{Grammar: grammar}
	case "marker":
		o.analyzer.Split = split.Marker{Grammar: grammar}
	default:
		return fmt.Errorf("-marker needs -split auto or marker, not %s", mode)
	}
	return nil
}

func modeNames() []string {
	var names []string
	for _, m := range split.Modes() {
		names = append(names, m.Name())
	}
	return names
}
