package main

import _ "embed"

//go:generate go run ../../internal/synth/sample -dir .

// sampleTrace is a made-up FLUX-like run: text encoder, 4 denoising steps with markers, VAE decode.
//
//go:embed sample.json.gz
var sampleTrace []byte
