module github.com/ditlens/ditlens

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.4
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/valyala/fastjson v1.6.10
	gonum.org/v1/gonum v0.17.0
)
