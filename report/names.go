package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestName is how many characters of a name people see; files that programs read carry all of it.
const longestName = 64

// readable returns the part of an operator's or kernel's name that tells what it does: of a mangled name the function, of a
// C++ signature the function with its template arguments without namespaces, of a generated GEMM the types and the tile.
func readable(name string) string {
	s := printable(name)
	switch {
	case strings.HasPrefix(s, "_Z"):
		s = unmangled(s)
	case strings.HasPrefix(s, "Cijk_"):
		s = gemmName(s)
	case strings.ContainsAny(s, "(<") && strings.Contains(s, "::"), strings.HasPrefix(s, "void "):
		s = signature(s)
	}
	return shortened(s, longestName)
}

// printable makes control characters and broken UTF-8 visible, so that a name is one line of text everywhere.
func printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// shortened cuts the middle of a text out so that n characters are left.
func shortened(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	head := (n - 1) * 2 / 3
	return string(r[:head]) + "…" + string(r[len(r)-(n-1-head):])
}

// mangledPart is a length-prefixed identifier of the Itanium C++ ABI.
var mangledPart = regexp.MustCompile(`^(\d+)`)

// unmangled returns the function of a mangled name with the last of its namespaces' names.
func unmangled(s string) string {
	rest := strings.TrimLeft(strings.TrimPrefix(s, "_Z"), "NKLV")
	name := ""
	for {
		digits := mangledPart.FindString(rest)
		n, err := strconv.Atoi(digits)
		if err != nil || n == 0 || len(digits)+n > len(rest) {
			break
		}
		if part := rest[len(digits) : len(digits)+n]; !strings.HasPrefix(part, "_GLOBAL__") {
			name = part
		}
		rest = rest[len(digits)+n:]
	}
	if name == "" {
		return s
	}
	return name
}

// gemmTile is the macro tile in the name of a Tensile kernel.
var gemmTile = regexp.MustCompile(`_(MT\d+x\d+x\d+)(_|$)`)

// gemmName keeps layout, types and tile of a Tensile kernel's name and drops its hundred tuning switches.
func gemmName(s string) string {
	at := gemmTile.FindStringSubmatchIndex(s)
	if at == nil {
		return s
	}
	head, _, _ := strings.Cut(s[:at[0]], "_Bias")
	head, _, _ = strings.Cut(head, "_UserArgs")
	return head + " " + s[at[2]:at[3]]
}

// namespaces are qualifiers before a name, with the anonymous one and lambdas' scopes.
var namespaces = regexp.MustCompile(`(?:[A-Za-z_]\w*|\(anonymous namespace\))::`)

// pointerArrays are template arguments of PyTorch's kernels that only tell how many tensors there are.
var pointerArrays = regexp.MustCompile(`, array<char\*, \d+ul>`)

// signature drops the return type, the parameters and all namespaces of a C++ signature.
func signature(s string) string {
	s = namespaces.ReplaceAllString(strings.TrimPrefix(s, "void "), "")
	s = strings.ReplaceAll(pointerArrays.ReplaceAllString(s, ""), " >", ">")
	depth := 0
	for i, r := range s {
		switch r {
		case '<':
			depth++
		case '>':
			depth--
		case '(':
			if depth == 0 && i > 0 {
				return s[:i]
			}
		}
	}
	return s
}

// shape shows the tensors of an operator, as in "8192x2432, 2432x9728". Arguments without dimensions are left out.
func (o *Operator) shape() string {
	var parts []string
	for _, dims := range o.InputDims {
		if len(dims) == 0 {
			continue
		}
		if len(parts) == 3 {
			return strings.Join(parts, ", ") + ", …"
		}
		var d []string
		for _, n := range dims {
			d = append(d, strconv.FormatInt(n, 10))
		}
		parts = append(parts, strings.Join(d, "x"))
	}
	return strings.Join(parts, ", ")
}
