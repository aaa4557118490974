package report

import "github.com/ditlens/ditlens/perfmodel"

// kernelKinds remembers the categories of kernels by name: a trace has few names and many kernels.
type kernelKinds map[string]perfmodel.Category

func (k kernelKinds) of(kernel string) perfmodel.Category {
	c, ok := k[kernel]
	if !ok {
		c, _ = perfmodel.Classify("", kernel)
		k[kernel] = c
	}
	return c
}
