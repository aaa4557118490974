// Package browsertest opens report.html in a headless Chromium and uses it as a reader would. It is a module of its own, so that
// users of the library do not inherit its dependencies:
//
//	cd examples/browsertest && go test ./...
//
// The test is skipped where there is no Chromium (on Debian: apt-get install chromium).
package browsertest
