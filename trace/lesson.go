package trace

// A lesson knows which device function an operator launched when it ran eagerly, as it does to warm up before its
// capture. It names captured launches whose device function is not recorded.
type lesson struct {
	tokens map[lessonKey]int32 // wild when runs differ
	words  *vocabulary
}

type lessonKey struct {
	name   string
	inputs *Inputs
	nth    int // launch of the operator
}

func newLesson(c *Trace, v *vocabulary) *lesson {
	s := &lesson{tokens: make(map[lessonKey]int32), words: v}
	nth := make(map[OpID]int)
	first := make([]GPUID, len(c.Launches))
	for i := range first {
		first[i] = None
	}
	for i := len(c.GPU) - 1; i >= 0; i-- {
		if l := c.GPU[i].Launch; l != None {
			first[l] = GPUID(i)
		}
	}
	for i := range c.Launches {
		l := &c.Launches[i]
		if l.Op == None || l.Kind != LaunchKernel || first[i] == None {
			continue
		}
		key := lessonKey{c.Ops[l.Op].Name, c.Ops[l.Op].Inputs, nth[l.Op]}
		nth[l.Op]++
		token := v.event(&c.GPU[first[i]])
		if was, ok := s.tokens[key]; ok && was != token {
			token = wild
		}
		s.tokens[key] = token
	}
	return s
}

// name gives nodes without a device function the one that their operator launched elsewhere, or the operator's own name if
// a kernel is called so, as those of Triton are.
func (s *lesson) name(c *Trace, r *region) {
	nth := make(map[OpID]int)
	for i := range r.nodes {
		n := &r.nodes[i]
		if n.op == None || c.Launches[n.launch].Kind != LaunchKernel {
			continue
		}
		o := &c.Ops[n.op]
		key := lessonKey{o.Name, o.Inputs, nth[n.op]}
		nth[n.op]++
		if n.token != wild {
			continue
		}
		if token, ok := s.tokens[key]; ok {
			n.token = token
		} else if token, ok := s.words.tokens[o.Name]; ok {
			n.token = token
		}
	}
}
