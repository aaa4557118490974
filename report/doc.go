// Package report turns a trace into one [Report] value and writes it in the forms that people and programs read.
//
// An [Analyzer] joins a trace with a splitter, models and a GPU; the writers put the Report into Markdown, JSON, CSV and
// HTML. Every number stands in the Report: no writer computes one. How a trace is read, split or modelled is for the
// packages below.
package report
