// Package scan walks a trace file in the Chrome trace-event format once, without building a document: bytes go in, one
// event after the other comes out, with the fields that every event has already read and the args cut into fields.
//
// It leaves the meaning of an event to its caller. Memory is one window of the text, whatever the length of the file.
//
// How it is organised: [Scanner] holds the window (scanner.go, blocks.go) and walks the document (document.go). One event is
// read by one strict pass over its bytes (event.go) made of keys (keys.go), args (args.go), strings (text.go), numbers
// (number.go) and skipped values (value.go); wording.go shortens the pass for events that repeat the wording of one
// before. Only when the pass fails, tolerant.go tries again with rules that know the writers' bugs, and resync.go finds the next
// event. Whether a decision is right may depend on bytes that are not in the window yet; then the step answers "short",
// the window is filled or grown, and the step starts again. So the result never depends on how the input was cut into
// reads.
package scan
