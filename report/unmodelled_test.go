package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/report"
	"github.com/ditlens/ditlens/trace"
)

func TestBL98_WorkWithoutModelComesFirst(t *testing.T) {
	var b trace.Builder
	thread := b.Thread(0, 1, 1, "")
	tensor := func(dims ...int64) trace.Arg { return trace.Arg{Type: "c10::BFloat16", Dims: dims} }
	mm := b.Inputs(trace.Inputs{Args: []trace.Arg{tensor(5000, 1000), tensor(1000, 10000)}})
	for i, op := range []trace.Op{{Name: "aten::mm", Inputs: mm}, {Name: "my::op"}} {
		at := time.Duration(i) * time.Millisecond
		op.Start, op.Dur, op.Thread = at, 10*time.Microsecond, thread
		b.Op(op)
		b.Launch(trace.Launch{Name: "hipLaunchKernel", Start: at + time.Microsecond, Dur: time.Microsecond, Correlation: int64(i) + 1, Thread: thread})
		b.GPU(trace.GPUEvent{Name: "k", Start: at, Dur: time.Duration(400+200*i) * time.Microsecond, Correlation: int64(i) + 1})
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := analyze(t, report.Analyzer{Hardware: hw.MI300X()}, tr)
	if op := r.Operators[0]; op.Name != "my::op" || op.Bound != "unmodelled" || len(op.Notes) != 1 || op.Notes[0] != "no model" {
		t.Errorf("first operator %s, %s, %q", op.Name, op.Bound, op.Notes)
	}
	f := r.Findings[0]
	if f.Title != "60.0 % of GPU time has no model" || !strings.Contains(f.Detail, "my::op (600.0 µs, no model)") || f.AtStake != 0 {
		t.Errorf("first finding %+v", f)
	}
}

func TestBL32_CachedStepsAreTold(t *testing.T) {
	full := strings.Fields("pe attn mlp attn mlp attn mlp attn mlp fin sched")
	cached := strings.Fields("pe attn mlp l1 add fin sched")
	var b trace.Builder
	at := time.Duration(0)
	for _, step := range "FFCFCCFCCF" {
		names, dur := full, 10*time.Microsecond
		if step == 'C' {
			names, dur = cached, 3500*time.Nanosecond
		}
		for _, n := range names {
			b.GPU(trace.GPUEvent{Name: n, Start: at, Dur: dur})
			at += dur + 5*time.Microsecond
		}
	}
	tr, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	r := analyze(t, report.Analyzer{}, tr)
	mean := (5*110 + 5*7*3.5) / 10.0
	if s := r.Split; s.CacheHitRatio != 0.5 || s.MeanGPUTime != report.Number(mean) || s.MedianGPUTime != report.Micros(110*time.Microsecond) {
		t.Errorf("cached %v, mean %v, median %v", s.CacheHitRatio, s.MeanGPUTime, s.MedianGPUTime)
	}
	var md strings.Builder
	if err := r.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if want := "Mean of all 10 steps, a mix of their classes and outliers: 67.2 µs of GPU time. A cache cut 50.0 % of them short."; !strings.Contains(md.String(), want) {
		t.Errorf("no %q in the text", want)
	}
}
