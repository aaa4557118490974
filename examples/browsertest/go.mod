module github.com/ditlens/ditlens/examples/browsertest

go 1.26

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/ditlens/ditlens v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/valyala/fastjson v1.6.10 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/ditlens/ditlens => ../..
