package report

import (
	"strconv"
	"strings"
)

// Python literals, for the CSV cells that scripts read with ast.literal_eval.

// pyString quotes a string as Python's repr does.
func pyString(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	s = strings.ReplaceAll(s, `\`, `\\`)
	return quote + strings.ReplaceAll(printable(s), quote, `\`+quote) + quote
}

// pyTuple joins literals into a tuple.
func pyTuple(parts []string) string {
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// pyDims writes shapes as "((8192, 2432), ())", "" when none were recorded.
func pyDims(dims [][]int64) string { return pyShapes(dims, nil) }

// pyShapes is pyDims with the shapes of lists of tensors in their place, as in "(((1, 2), (3, 4)), ())".
func pyShapes(dims [][]int64, lists [][][]int64) string {
	if len(dims) == 0 {
		return ""
	}
	outer := make([]string, len(dims))
	for i, d := range dims {
		if i < len(lists) && len(lists[i]) > 0 {
			outer[i] = pyDims(lists[i])
			continue
		}
		inner := make([]string, len(d))
		for k, n := range d {
			inner[k] = strconv.FormatInt(n, 10)
		}
		outer[i] = pyTuple(inner)
	}
	return pyTuple(outer)
}

// pyStrings writes a tuple of strings, "" when none were recorded.
func pyStrings(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return pyTuple(quoted(list))
}

// pyList writes a list of strings.
func pyList(list []string) string { return "[" + strings.Join(quoted(list), ", ") + "]" }

func quoted(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = pyString(s)
	}
	return out
}

func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// pyNumber writes a number, None when it is unknown.
func pyNumber(n Number) string {
	if !n.Known() {
		return "None"
	}
	return csvNumber(n)
}

// pyKernels lists the kernels of an operator with their times.
func pyKernels(kernels []OperatorKernel) string {
	var parts []string
	for _, k := range kernels {
		each := k.Each.known()
		parts = append(parts, "{'name': "+pyString(k.Name)+", 'count': "+strconv.Itoa(k.Count)+", 'total_duration_us': "+k.Time.String()+
			", 'mean_duration_us': "+pyNumber(each.Mean)+", 'median_duration_us': "+pyNumber(each.Median)+", 'std_dev_duration_us': "+
			pyNumber(each.Std)+", 'min_duration_us': "+pyNumber(each.Min)+", 'max_duration_us': "+pyNumber(each.Max)+"}")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// pyKernelsShort lists the kernels of an operator by the beginning of their names.
func pyKernelsShort(kernels []OperatorKernel) string {
	var parts []string
	for _, k := range kernels {
		n := []rune(printable(k.Name))
		s := string(n)
		if len(n) > longestName {
			s = string(n[:longestName]) + "..."
		}
		mean := "None"
		if k.Each.N > 0 {
			mean = strconv.FormatFloat(float64(k.Each.Mean), 'f', 2, 64)
		}
		parts = append(parts, "{'name': "+pyString(s)+", 'mean_duration_us': "+mean+"}")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
