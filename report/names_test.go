package report

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadable(t *testing.T) {
	for _, x := range []struct{ name, want string }{
		{"attn_fwd", "attn_fwd"},
		{"aten::mm", "aten::mm"},
		{"", ""},
		{"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1_SN_LDSB0_AFC1", "Cijk_Alik_Bljk_BBS_BH MT256x224x64"},
		{"Cijk_odd", "Cijk_odd"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)",
			"vectorized_elementwise_kernel<4, FillFunctor<int>>"},
		{"void (anonymous namespace)::elementwise_kernel_with_index<int, f>(int)", "elementwise_kernel_with_index<int, f>"},
		{"ns::f(int)", "f"},
		{"_ZN2ck16GridwiseGemmMXdl6kernelEv", "kernel"},
		{"_ZN12_GLOBAL__N_13fooEv", "foo"},
		{"_Z6simplei", "simple"},
		{"_Z9broken", "_Z9broken"},
		{"_Z99999999999999999999x", "_Z99999999999999999999x"},
		{"a\nb\x00\xff", "a\\x0ab\\x00\ufffd"},
	} {
		if got := readable(x.name); got != x.want {
			t.Errorf("readable(%q) = %q, want %q", x.name, got, x.want)
		}
	}
}

func FuzzReadable(f *testing.F) {
	for _, n := range nastyNames {
		f.Add(n)
	}
	f.Add("_ZN0")
	f.Add("void a<b::c>::d(e)")
	f.Fuzz(func(t *testing.T, name string) {
		got := readable(name)
		if utf8.RuneCountInString(got) > longestName || strings.ContainsAny(got, "\n\r\x00") || !utf8.ValidString(got) {
			t.Errorf("readable(%q) = %q", name, got)
		}
	})
}

func TestUnitsOfText(t *testing.T) {
	nan := Number(math.NaN())
	for _, x := range []struct{ got, want string }{
		{duration(0), "0 µs"}, {duration(227), "0.2 µs"}, {duration(999_949), "999.9 µs"}, {duration(204_565_196), "204.6 ms"}, {duration(1_171_628_656), "1,171.6 ms"},
		{duration(12_345_678_901), "12.3 s"}, {duration(-114_200_000), "-114.2 ms"}, {micros(nan), "n/a"}, {micros(0.004), "< 0.1 µs"}, {micros(0), "0 µs"},
		{hedged("≥ ", 0.004), "≥ 0.00 %"}, {hedged("", 0.004), "< 0.01 %"}, {hedged("no less than ", 33.33), "no less than 33.3 %"},
		{percent(0), "0.0 %"}, {percent(0.004), "< 0.01 %"}, {percent(0.96), "0.96 %"}, {percent(60.81), "60.8 %"}, {percent(140), "140.0 %"}, {percent(99.96), "> 99.9 %"}, {percent(99.94), "99.9 %"}, {percent(100), "100.0 %"},
		{percentFine(99.999), "> 99.99 %"}, {percentFine(100), "100.00 %"}, {percent(nan), "n/a"},
		{percentFine(60.8119), "60.81 %"}, {significant(2214.5), "2,214"}, {significant(576.4), "576"}, {significant(1.667), "1.67"}, {significant(0.02267), "0.0227"}, {significant(0.25), "0.250"}, {significant(0.99973), "1.00"}, {significant(9.996), "10.0"},
		{significant(0.00001234), "1.2e-05"}, {significant(0), "0"}, {significant(Number(math.Inf(1))), "n/a"},
		{scaled(5.3e12, "B/s"), "5.30 TB/s"}, {scaled(999, "B"), "999 B"}, {scaled(nan, "B"), "n/a"}, {count(8066), "8,066"}, {count(-1234567), "-1,234,567"}, {count(12), "12"},
		{seconds(1.1716), "1.172 s"}, {Micros(-1).String(), "-0.001"},
	} {
		if x.got != x.want {
			t.Errorf("got %q, want %q", x.got, x.want)
		}
	}
}
