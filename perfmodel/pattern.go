package perfmodel

import "strings"

// A pattern is a name with * for any run of characters, cut at the stars.
type pattern struct {
	head   string   // before the first star, or all
	middle []string // between stars
	tail   string   // behind the last star
	exact  bool     // there is no star
}

func compile(text string) pattern {
	pieces := strings.Split(text, "*")
	n := len(pieces) - 1
	if n == 0 {
		return pattern{head: text, exact: true}
	}
	return pattern{head: pieces[0], middle: pieces[1:n], tail: pieces[n]}
}

// matches reports whether s fits the pattern. Each piece between stars may be taken as early as it occurs; only the
// tail must end the name.
func (p *pattern) matches(s string) bool {
	if !strings.HasPrefix(s, p.head) {
		return false
	}
	s = s[len(p.head):]
	if p.exact {
		return s == ""
	}
	for _, piece := range p.middle {
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return strings.HasSuffix(s, p.tail)
}
