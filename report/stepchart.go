package report

import (
	"fmt"
	"slices"
)

// A stepChart shows the time of each step: its span, the GPU time within it and the roofline of its work.
type stepChart struct {
	frame
	Y      []tick
	X      []tick
	Bars   []stepBar
	Legend []legendItem
}

// A stepBar is one step. Roof is where its roofline lies, 0 when unknown.
type stepBar struct {
	X, X2, Width px
	SpanY, SpanH px
	GPUY, GPUH   px
	Roof         px
	Middle       px
	Hue          string
	Outlier      bool
	Title        string
}

// classHues colour the classes of steps.
var classHues = []string{"blue", "green", "purple", "orange", "teal", "pink"}

// stepChart draws the steps; nil when there are none.
func (r *Report) stepChart() *stepChart {
	steps := r.Split.Steps
	if len(steps) == 0 {
		return nil
	}
	c := &stepChart{frame: frame{Width: 1080, Height: 250, Left: 64, Top: 20, Right: 1060, Bottom: 220}}
	longest := slices.MaxFunc(steps, func(a, b Step) int { return int(a.Span - b.Span) }).Span
	longest = max(longest, slices.MaxFunc(steps, func(a, b Step) int { return int(a.GPUTime - b.GPUTime) }).GPUTime)
	y := axis{lo: 0, hi: max(1, float64(longest)/1000*1.06), from: c.Bottom, to: c.Top}
	c.Y = y.evenly(4)
	slot := (c.Right - c.Left) / px(len(steps))
	width := min(slot*0.7, 72)
	every := 1 + len(steps)/20
	for i := range steps {
		s := &steps[i]
		left := c.Left + slot*px(i) + (slot-width)/2
		c.Bars = append(c.Bars, r.stepBar(s, y, left, width, c.Bottom))
		if i%every == 0 {
			c.X = append(c.X, tick{left + width/2, count(s.Index)})
		}
	}
	for _, k := range r.Split.Classes {
		c.Legend = append(c.Legend, legendItem{classHue(k.ID), fmt.Sprintf("GPU time, class %d: %s (%s steps)", k.ID, printable(k.Name), count(k.Steps))})
	}
	return c
}

func (r *Report) stepBar(s *Step, y axis, left, width, bottom px) stepBar {
	b := stepBar{X: left, X2: left + width, Width: width, Middle: left + width/2, Hue: classHue(s.Class), Outlier: s.Outlier != "" || !s.Complete}
	b.SpanY, b.GPUY = y.at(float64(s.Span)/1000), y.at(float64(s.GPUTime)/1000)
	b.SpanH, b.GPUH = bottom-b.SpanY, bottom-b.GPUY
	if s.Roofline.Known() {
		b.Roof = y.at(float64(s.Roofline))
	}
	b.Title = fmt.Sprintf("step %d, %s: %s of GPU time in a span of %s, %s GPU events, roofline %s", s.Index, printable(r.Split.className(s.Class)),
		duration(s.GPUTime), duration(s.Span), count(s.Kernels), micros(s.Roofline))
	if remark := s.remark(); remark != "" {
		b.Title += "\n" + printable(remark)
	}
	return b
}

func classHue(id int) string { return classHues[max(0, id)%len(classHues)] }

// A phaseChart shows phases and steps on the time axis of the run.
type phaseChart struct {
	frame
	X      []tick
	Phases []block
	Steps  []block
	Legend []legendItem
}

// phaseTop is where the blocks of the phases begin; their names stand above.
const phaseTop = 20

// phaseHues colour the phases.
var phaseHues = map[string]string{"text_encode": "teal", "denoise": "blue", "vae_decode": "green"}

// phaseChart draws the phases of the run; nil when there are none.
func (r *Report) phaseChart() *phaseChart {
	if len(r.Split.Phases) == 0 {
		return nil
	}
	c := &phaseChart{frame: frame{Width: 1080, Height: 118, Left: 20, Top: 8, Right: 1060, Bottom: 92}}
	end := Micros(1)
	for _, p := range r.Split.Phases {
		end = max(end, p.End)
	}
	x := axis{lo: 0, hi: float64(end) / 1000, from: c.Left, to: c.Right}
	c.X = x.evenly(8)
	named := map[string]bool{}
	for _, p := range r.Split.Phases {
		h, ok := phaseHues[p.Name]
		if !ok {
			h = "grey"
		}
		b := stretch(x, p.Start, p.End)
		b.Height = 36
		b.Fill = px(min(1, float64(p.Busy)/max(1, float64(p.End-p.Start)))) * b.Height
		b.Y, b.Hue = phaseTop+b.Height-b.Fill, h
		b.Title = fmt.Sprintf("%s, image %d: %s of GPU time in %s, %s busy", printable(p.Name), p.Image, duration(p.GPUTime), duration(p.End-p.Start),
			percent(share(p.Busy, p.End-p.Start)))
		if label := printable(p.Name); fits(label, b.Width) {
			b.Label = label
		}
		c.Phases = append(c.Phases, b)
		if !named[p.Name] {
			named[p.Name] = true
			c.Legend = append(c.Legend, legendItem{h, printable(p.Name)})
		}
	}
	for _, s := range r.Split.Steps {
		b := stretch(x, s.Start, s.End)
		b.Hue, b.Title = classHue(s.Class), fmt.Sprintf("step %d: %s", s.Index, duration(s.Span))
		if label := count(s.Index); fits(label, b.Width) {
			b.Label = label
		}
		c.Steps = append(c.Steps, b)
	}
	return c
}

// stretch places a stretch of time, at least half a pixel wide.
func stretch(x axis, start, end Micros) block {
	from, to := x.at(float64(start)/1000), x.at(float64(end)/1000)
	return block{X: from, Width: max(0.5, to-from)}
}
