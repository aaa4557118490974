package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// smallestPoint is the share of GPU time, in percent, below which an operator has no point in the roofline plot.
const smallestPoint = 0.02

// A roofPlot shows operators by arithmetic intensity and rate below the ceilings of the GPU, both axes logarithmic.
type roofPlot struct {
	frame
	X, Y    []tick
	Roofs   []roofLine
	Points  []point
	Legend  []legendItem
	Caption string
}

// A roofLine is a ceiling: from the left along the bandwidth to the ridge, or flat to the right.
type roofLine struct {
	X1, Y1, X2, Y2 px
	LabelX, LabelY px
	Angle          px // of the label
	Label          string
	Other          bool // of the other ceiling set
}

// A point is an operator.
type point struct {
	X, Y, R px
	Hue     string
	Title   string
	Ranks   string // shown in the point: its own and those of points below it
}

// roofPlot draws the operators that do arithmetic; nil when none is known.
func (r *Report) roofPlot() *roofPlot {
	p := &roofPlot{frame: frame{Width: 1080, Height: 520, Left: 64, Top: 20, Right: 1060, Bottom: 468}}
	var shown []int
	for i := range r.Operators {
		o := &r.Operators[i]
		if o.Intensity > 0 && o.TFLOPS > 0 && o.Intensity.Known() && o.TFLOPS.Known() && o.Percent >= smallestPoint {
			shown = append(shown, i)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	x, y := r.roofAxes(p, shown)
	p.X, p.Y = x.decades(), y.decades()
	p.addRoofs(r, x, y, shown)
	p.addPoints(r, x, y, shown)
	p.Caption = fmt.Sprintf("%s of %s operators: those with arithmetic and at least %g %% of GPU time. A point's area is its time.",
		count(len(shown)), count(len(r.Operators)), smallestPoint)
	return p
}

// roofAxes spans the points and the ridge.
func (r *Report) roofAxes(p *roofPlot, shown []int) (x, y axis) {
	x = axis{lo: 1, hi: 1000, from: p.Left, to: p.Right, log: true}
	y = axis{lo: 1, hi: 10, from: p.Bottom, to: p.Top, log: true}
	for _, i := range shown {
		o := &r.Operators[i]
		x.lo, x.hi = min(x.lo, float64(o.Intensity)/1.5), max(x.hi, float64(o.Intensity))
		y.lo, y.hi = min(y.lo, float64(o.TFLOPS)/1.5), max(y.hi, float64(o.TFLOPS)*1.5)
	}
	for _, unit := range r.plottedUnits(shown) {
		for _, c := range r.ceilings() {
			if peak := c.Peaks[unit].Value; peak > 0 && peak.Known() {
				y.hi = max(y.hi, float64(peak)/1e12*1.8)
			}
		}
	}
	x.hi *= 8 // room for the labels of the roofs
	return x, y
}

// ceilings returns the set that percentages refer to, then the other one.
func (r *Report) ceilings() []Ceiling {
	h := &r.Hardware
	if len(h.Peaks) == 0 {
		return nil
	}
	list := []Ceiling{{Name: h.Ceiling, Bandwidth: h.Bandwidth, Peaks: h.Peaks}}
	if h.Other != nil {
		list = append(list, *h.Other)
	}
	return list
}

// plottedUnits returns the arithmetic units under whose roofs the points lie, the two with the most time.
func (r *Report) plottedUnits(shown []int) []string {
	time := map[string]Micros{}
	var units []string
	for _, i := range shown {
		unit := r.Operators[i].computeSpec()
		if unit == "" {
			continue
		}
		if _, ok := time[unit]; !ok {
			units = append(units, unit)
		}
		time[unit] += r.Operators[i].KernelTime
	}
	slices.SortStableFunc(units, func(a, b string) int { return int(time[b] - time[a]) })
	return units[:min(2, len(units))]
}

// addRoofs draws the bandwidth up to the highest peak, and each unit's peak from its ridge on.
func (p *roofPlot) addRoofs(r *Report, x, y axis, shown []int) {
	for k, c := range r.ceilings() {
		band := float64(c.Bandwidth) / 1e12 // TFLOP/s at an intensity of 1
		if !(band > 0) || !c.Bandwidth.Known() {
			continue
		}
		highest := 0.0
		for _, unit := range r.plottedUnits(shown) {
			peak := float64(c.Peaks[unit].Value) / 1e12
			if !(peak > 0) || !c.Peaks[unit].Value.Known() {
				continue
			}
			highest = max(highest, peak)
			if k > 0 && scaled(c.Peaks[unit].Value, "") == scaled(r.Hardware.Peaks[unit].Value, "") {
				continue // the same roof
			}
			ridge := max(x.lo, peak/band)
			line := roofLine{X1: x.at(ridge), Y1: y.at(peak), X2: p.Right, Y2: y.at(peak), LabelX: p.Right - 6, Other: k > 0,
				Label: fmt.Sprintf("%s, %s: %s", strings.ReplaceAll(unit, "_", " "), c.Name, scaled(c.Peaks[unit].Value, "FLOP/s"))}
			line.LabelY = line.Y1 - 5
			p.addRoof(line)
		}
		if highest == 0 {
			continue
		}
		lo := max(x.lo, y.lo/band)
		line := roofLine{X1: x.at(lo), Y1: y.at(lo * band), X2: x.at(highest / band), Y2: y.at(highest), Other: k > 0}
		if k == 0 {
			line.Label = "memory, " + c.Name + ": " + scaled(c.Bandwidth, "B/s")
			line.LabelX, line.LabelY = line.X1+(line.X2-line.X1)*0.3, line.Y1+(line.Y2-line.Y1)*0.3-8
			line.Angle = px(math.Atan2(float64(line.Y2-line.Y1), float64(line.X2-line.X1)) * 180 / math.Pi)
		}
		p.addRoof(line)
	}
}

// addRoof adds a line; its label moves below the line, or is left out, where it would cover another one.
func (p *roofPlot) addRoof(l roofLine) {
	free := func(y px) bool {
		for _, o := range p.Roofs {
			if o.Label != "" && o.Angle == 0 && l.Angle == 0 && math.Abs(float64(o.LabelY-y)) < 14 {
				return false
			}
		}
		return true
	}
	if l.Label != "" && !free(l.LabelY) {
		if l.LabelY += 18; !free(l.LabelY) {
			l.Label = ""
		}
	}
	p.Roofs = append(p.Roofs, l)
}

// addPoints draws large points first, so that small ones stay visible.
func (p *roofPlot) addPoints(r *Report, x, y axis, shown []int) {
	seen := map[string]bool{}
	for _, i := range shown {
		o := &r.Operators[i]
		pt := point{X: x.at(float64(o.Intensity)), Y: y.at(float64(o.TFLOPS)), R: px(3 + 4.2*math.Sqrt(float64(o.Percent))), Hue: hue(o.Category),
			Title: fmt.Sprintf("%d. %s %s\n%s, %s of GPU time\n%s FLOP/B, %s TFLOP/s, %s of the %s roof", i+1, readable(o.Name), o.shape(),
				duration(o.KernelTime), percent(o.Percent), significant(o.Intensity), significant(o.TFLOPS), o.efficiencyCell().Text, o.Roof)}
		if i < rankedPoints {
			p.addRank(&pt, i+1)
		}
		p.Points = append(p.Points, pt)
		if c := printable(string(o.Category)); !seen[c] {
			seen[c] = true
			p.Legend = append(p.Legend, legendItem{pt.Hue, c})
		}
	}
}

// rankedPoints is how many points carry their rank.
const rankedPoints = 9

// addRank labels a point with its rank, or the point that it lies on.
func (p *roofPlot) addRank(pt *point, rank int) {
	for i := range p.Points {
		q := &p.Points[i]
		if q.Ranks != "" && math.Abs(float64(q.X-pt.X)) < 16 && math.Abs(float64(q.Y-pt.Y)) < 13 {
			q.Ranks += ", " + count(rank)
			return
		}
	}
	pt.Ranks = count(rank)
}

// A shareBar divides GPU time among categories.
type shareBar struct {
	frame
	Parts  []block
	Legend []legendItem
}

// A block is a coloured part of a bar.
type block struct {
	X, Width px
	Y, Fill  px // of a part that is filled from below
	Height   px
	Hue      string
	Label    string
	Title    string
}

// shareBar draws the shares of GPU time by category; nil without GPU time.
func (r *Report) shareBar() *shareBar {
	b := &shareBar{frame: frame{Width: 1080, Height: 34, Right: 1080, Bottom: 34}}
	at := px(0)
	for _, c := range r.Coverage.ByCategory {
		if !c.Percent.Known() || c.Percent <= 0 {
			continue
		}
		w := px(c.Percent) / 100 * b.Width
		label := printable(string(c.Category)) + " " + percent(c.Percent)
		part := block{X: at, Width: w, Hue: hue(c.Category), Title: label + ", " + duration(c.Time)}
		if fits(label, w) {
			part.Label = label
		}
		b.Parts = append(b.Parts, part)
		if c.Percent >= 0.1 {
			b.Legend = append(b.Legend, legendItem{part.Hue, label})
		}
		at += w
	}
	if len(b.Parts) == 0 {
		return nil
	}
	return b
}
