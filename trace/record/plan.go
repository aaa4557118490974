package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Framework is what runs the model.
type Framework string

// Frameworks.
const (
	XDiT      Framework = "xdit"
	VLLM      Framework = "vllm"
	SGLang    Framework = "sglang"
	Atom      Framework = "atom"
	Diffusers Framework = "diffusers"
	Custom    Framework = "custom"
)

var frameworks = []Framework{XDiT, VLLM, SGLang, Atom, Diffusers, Custom}

// ErrFramework is wrapped for the name of a framework that is not known.
var ErrFramework = errors.New("unknown framework")

// ParseFramework returns the framework of a name, without regard to case.
func ParseFramework(name string) (Framework, error) {
	f := Framework(strings.ToLower(name))
	if !slices.Contains(frameworks, f) {
		return "", fmt.Errorf("record: %w %q, known: %v", ErrFramework, name, frameworks)
	}
	return f, nil
}

// Mode returns the kind of analysis that suits the framework: "inference" for servers, else "default".
func (f Framework) Mode() string {
	switch f {
	case XDiT, VLLM, SGLang, Atom:
		return "inference"
	}
	return "default"
}

// Environment variables that plans read and write.
const (
	EnablePatch    = "HYPERLOOM_ENABLE_PATCH" // "0" switches patches off
	PatchStatus    = "HYPERLOOM_TRACELENS_PATCH_STATUS"
	DegradedReason = "HYPERLOOM_PROFILE_DEGRADED_REASON"
	ExtraXDiTArgs  = "EXTRA_XDIT_ARGS"
)

// A Request is what a plan is made for.
type Request struct {
	Framework Framework
	Env       func(name string) string // looks up the environment; nil: nothing is set
	Checkout  string                   // folder of the framework's git checkout, "" when unknown
	Images    []Image                  // known images; nil: [XDiTImages]
	Patches   fs.FS                    // folder of patch files, nil when there is none
}

// A Variable is an environment variable to set.
type Variable struct{ Name, Value string }

// A Plan says how to record. It is a value: nothing has been changed.
type Plan struct {
	Framework Framework
	Mode      string     // see [Framework.Mode]
	Flags     []string   // to add to the command line, those that are set already left out
	Env       []Variable // to set, in a fixed order
	Patch     Patch
	Notes     []string // what to do by hand, and what looks wrong
}

// NewPlan makes the plan for a request. Flags that only a patched build knows are in it only when a patch fits; HYPERLOOM_ENABLE_PATCH=0
// means that none is looked for. What is set in EXTRA_XDIT_ARGS already stays as it is. The error is that of a patch
// folder that cannot be read, or wraps [ErrFramework].
func NewPlan(r Request) (Plan, error) {
	if !slices.Contains(frameworks, r.Framework) {
		return Plan{}, fmt.Errorf("record: %w %q", ErrFramework, r.Framework)
	}
	if r.Env == nil {
		r.Env = func(string) string { return "" }
	}
	patch, err := r.patch()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Framework: r.Framework, Mode: r.Framework.Mode(), Patch: patch}
	p.frameworkSettings(r.Env)
	p.set(PatchStatus, string(patch.Status))
	if patch.Status != OK {
		p.set(DegradedReason, patch.Reason)
	}
	return p, nil
}

func (r *Request) patch() (Patch, error) {
	switch {
	case r.Env(EnablePatch) == "0":
		return Patch{Status: NotAttempted, Reason: EnablePatch + "=0"}, nil
	case r.Framework != XDiT:
		return Patch{Status: NotAttempted, Reason: "no patches are known for " + string(r.Framework)}, nil
	case r.Checkout == "":
		return Patch{Status: NotAttempted, Reason: "no checkout given"}, nil
	case r.Patches == nil:
		return Patch{Status: NotAttempted, Reason: "no patch folder given"}, nil
	}
	sha, err := CheckoutSHA(r.Checkout)
	if err != nil {
		return Patch{Status: Unavailable, Reason: err.Error()}, nil
	}
	images := r.Images
	if images == nil {
		images = XDiTImages()
	}
	return ChoosePatch(sha, images, r.Patches)
}

// frameworkSettings adds what makes the framework's own profiler record operators with shapes, in a window that survives.
func (p *Plan) frameworkSettings(env func(string) string) {
	switch p.Framework {
	case XDiT:
		p.xdit(env(ExtraXDiTArgs))
	case VLLM:
		p.set("VLLM_TORCH_PROFILER_RECORD_SHAPES", "1")
		p.set("VLLM_TORCH_PROFILER_WITH_STACK", "1")
		p.note("start and stop the profiler around whole requests; shapes of captured graphs need the capture phase in the trace")
	case SGLang:
		p.Flags = []string{"--profile", "--num-profiled-timesteps", "5"}
		p.note("--num-profiled-timesteps counts denoising steps; --profile-all-stages adds text encoders and VAE")
	case Atom:
		p.note("give --torch-profiler-dir DIR; the recording spans the whole client run, so keep it to a few requests")
	default:
		p.note("torch.profiler.profile(record_shapes=True, schedule=torch.profiler.schedule(wait=1, warmup=1, active=1, repeat=1)), " +
			"with profiler.step() once per image")
	}
}

func (p *Plan) xdit(extra string) {
	p.add(extra, "--profile_wait", "1")
	if p.Patch.Status == OK {
		p.add(extra, "--profile_capture_phase", "")
		p.add(extra, "--profile_with_stack", "")
	}
	args := extra // as it is: it may hold quoted text
	if len(p.Flags) > 0 {
		args = strings.TrimLeft(extra+" "+strings.Join(p.Flags, " "), " ")
	}
	p.set(ExtraXDiTArgs, args)
	if v, _ := flagValue(extra, "--profile_wait"); v == "0" {
		p.note(ExtraXDiTArgs + " asks for --profile_wait 0: the recorded window is lost before it is written")
	}
}

// add appends a flag that the command line does not have yet.
func (p *Plan) add(args, flag, value string) {
	if _, ok := flagValue(args, flag); ok {
		return
	}
	p.Flags = append(p.Flags, flag)
	if value != "" {
		p.Flags = append(p.Flags, value)
	}
}

// flagValue finds a flag in a command line, as "--flag value" or "--flag=value". The last one counts.
func flagValue(args, flag string) (value string, ok bool) {
	fields := strings.Fields(args)
	for i, f := range fields {
		if v, found := strings.CutPrefix(f, flag+"="); found {
			value, ok = v, true
		}
		if f == flag {
			value, ok = "", true
			if i+1 < len(fields) && !strings.HasPrefix(fields[i+1], "-") {
				value = fields[i+1]
			}
		}
	}
	return value, ok
}

func (p *Plan) set(name, value string) { p.Env = append(p.Env, Variable{name, value}) }

func (p *Plan) note(text string) { p.Notes = append(p.Notes, text) }
