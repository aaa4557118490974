package report

import (
	"fmt"
	"strconv"
	"strings"
)

// ranksSection puts the ranks of the run side by side.
func (r *Report) ranksSection() section {
	s := section{ID: "ranks", Title: "Ranks"}
	if r.Ranks == nil {
		return s
	}
	s.Lead = []string{r.Ranks.lead()}
	s.Tables = []table{r.Ranks.rankTable()}
	if len(r.Ranks.Collectives) > 0 {
		s.Tables = append(s.Tables, r.Ranks.collectiveTable())
		s.more(len(r.Ranks.Collectives), categoryRows, "kinds of collectives", "report.json")
		s.Notes = append(s.Notes, "What the rank that arrives last needs is the transfer; the rest of a collective is waiting for it. "+
			"Clocks are compared by the ends of collectives, which are the same instant on all ranks; a clock with + is ahead of that of the first rank.")
	}
	s.Notes = append(s.Notes, r.Ranks.Doubts...)
	return s
}

// lead says in a sentence what the ranks lose by each other.
func (r *Ranks) lead() string {
	if r.Matched == 0 {
		return fmt.Sprintf("%d ranks; no collective of one was found on another.", len(r.Ranks))
	}
	var wait, transfer, n Micros
	for i := range r.Ranks {
		if r.Ranks[i].Calls > 0 {
			wait += r.Ranks[i].Wait
			transfer += r.Ranks[i].Transfer
			n++
		}
	}
	meet := fmt.Sprintf("%d ranks meet", n)
	if int(n) < len(r.Ranks) {
		meet = fmt.Sprintf("%d of %d ranks meet", n, len(r.Ranks))
	}
	text := fmt.Sprintf("%s in %s collectives: on average a rank transfers for %s and waits for others for %s.",
		meet, count(r.Matched), duration(transfer/n), duration(wait/n))
	if last := r.straggler(); last != nil {
		text += fmt.Sprintf(" Rank %d arrives last in %s of its %s collectives.", last.Rank, count(last.Last), count(last.Calls))
	}
	return text
}

// straggler is the rank that the others wait for, nil if it changes: the one that arrives last more often than all others together.
func (r *Ranks) straggler() *Rank {
	for i := range r.Ranks {
		if 2*r.Ranks[i].Last > r.Matched {
			return &r.Ranks[i]
		}
	}
	return nil
}

func (r *Ranks) rankTable() table {
	t := table{ID: "rank-table", Title: "Ranks", Caption: "The ranks of the run", Columns: columns(">rank", ">steps", ">step span (median)",
		">busy", ">idle", ">exposed communication", ">transfer", ">wait", ">arrived last", ">clock")}
	for _, k := range r.Ranks {
		span := unknown
		if k.StepSpan > 0 {
			span = Number(k.StepSpan) / 1000
		}
		t.Rows = append(t.Rows, []cell{whole(k.Rank), whole(k.Steps), number(span, micros(span)), took(k.Busy), took(k.Idle), took(k.Exposed),
			took(k.Transfer), took(k.Wait), whole(k.Last), number(k.ClockShift, k.clock())})
	}
	return t
}

// clock shows the clock of a rank against that of the first.
func (k *Rank) clock() string {
	if !k.ClockShift.Known() {
		return notAvailable
	}
	sign := ""
	if k.ClockShift >= 0.05 { // what is shown as less has no sign
		sign = "+"
	}
	drift := ""
	if k.Drift != 0 && k.Drift.Known() {
		drift = fmt.Sprintf(", %+.1f ppm", float64(k.Drift))
	}
	return sign + micros(k.ClockShift) + " ± " + micros(k.Spread) + drift
}

func (r *Ranks) collectiveTable() table {
	t := table{ID: "collective-table", Title: "Collectives", Caption: "Collectives that the ranks run together", Columns: columns("collective",
		"ranks", ">calls", ">transfer", ">wait of all ranks", ">arrivals apart (median)", ">rate", ">of the link")}
	for _, c := range r.Collectives[:min(categoryRows, len(r.Collectives))] {
		var ranks []string
		for _, k := range c.Ranks {
			ranks = append(ranks, strconv.Itoa(k))
		}
		t.Rows = append(t.Rows, []cell{{Text: printable(c.Name), Code: true}, text(strings.Join(ranks, ", ")), whole(c.Calls), took(c.Transfer),
			took(c.Wait), number(c.Arrival, micros(c.Arrival)), number(c.Bandwidth, scaled(c.Bandwidth, "B/s")), sharedCell(c.Efficiency)})
	}
	return t
}

// waitingRanks is what this rank waits for others in collectives, as far as no computation hides it.
func (in *analysis) waitingRanks() []Finding {
	if in.Ranks == nil || in.Trace.Rank == nil {
		return nil
	}
	for _, k := range in.Ranks.Ranks {
		stake := min(k.Wait, in.Timeline.ExposedComm)
		if k.Rank != *in.Trace.Rank || !in.worthwhile(stake.Duration()) {
			continue
		}
		detail := fmt.Sprintf("%s of %s in collectives are waiting, the rest is transfer.", duration(k.Wait), duration(k.Wait+k.Transfer))
		if stake < k.Wait {
			detail += fmt.Sprintf(" No more than %s of it can be saved: computation hides the rest.", duration(stake))
		}
		if last := in.Ranks.straggler(); last != nil {
			detail += fmt.Sprintf(" Rank %d arrives last in %s of %s calls.", last.Rank, count(last.Last), count(last.Calls))
		}
		return []Finding{{Code: "waiting_for_ranks", Time: k.Wait + k.Transfer, AtStake: stake,
			Title: fmt.Sprintf("Rank %d waits for other ranks", k.Rank), Detail: detail}}
	}
	return nil
}
