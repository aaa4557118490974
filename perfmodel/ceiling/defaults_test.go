package ceiling_test

import (
	"errors"
	"os"
	"testing"
	"testing/fstest"

	"github.com/ditlens/ditlens/perfmodel/ceiling"
)

// The pipeline tells PixArt-α, which takes 120 tokens, from PixArt-Σ, which takes 300: their transformers have one class.
func TestPromptOfPixArt(t *testing.T) {
	transformer, err := os.ReadFile("testdata/models/pixart/transformer/config.json")
	if err != nil {
		t.Fatal(err)
	}
	for pipeline, want := range map[string]int64{`{"_class_name":"PixArtAlphaPipeline"}`: 120, `{"_class_name":"PixArtSigmaPipeline"}`: 300, `{}`: 300} {
		m, err := ceiling.Open(fstest.MapFS{"transformer/config.json": {Data: transformer}, "model_index.json": {Data: []byte(pipeline)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Defaults().TextTokens; got != want {
			t.Errorf("%s: %d tokens, want %d", pipeline, got, want)
		}
	}
}

// Models of one class are trained on images of different sizes, and make such when nothing is asked for.
func TestSizeOfTraining(t *testing.T) {
	for _, tt := range []struct {
		model, file   string
		sample        any
		height, width int64
	}{
		{"sd15", "unet", 64, 512, 512},
		{"sd15", "unet", nil, 1024, 1024},
		{"sd15", "unet", []int{96, 64}, 768, 512},
		{"pixart", "transformer", 64, 512, 512},
		{"sd35_large", "transformer", 128, 1024, 1024},
	} {
		m, err := ceiling.Open(edited(t, tt.model+"/"+tt.file+"/config.json", "sample_size", tt.sample))
		if err != nil {
			t.Fatal(err)
		}
		if o := m.Defaults(); o.Height != tt.height || o.Width != tt.width {
			t.Errorf("%s of %v: %dx%d", tt.model, tt.sample, o.Width, o.Height)
		}
	}
	var ce *ceiling.ConfigError
	if _, err := ceiling.Open(edited(t, "sd15/unet/config.json", "sample_size", "big")); !errors.As(err, &ce) || ce.Field != "sample_size" {
		t.Errorf("got %v", err)
	}
}
