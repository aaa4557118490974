// Package ceiling tells what a diffusion model must do at least, before it runs. The configuration files of a diffusers model folder
// and a request (size, steps, guidance) go in; FLOPs and bytes per forward, step and image come out, and the time that a
// GPU needs at best.
//
// Counted are matrix products, attention and convolutions, by the formulas of package perfmodel: 2 FLOPs a multiply-add, and
// inputs, weights and outputs moved once. Norms, activations and schedulers are left to be fused: the times are
// lower bounds.
//
// Autoencoders decode whole images. Videos are decoded as diffusers does it when nothing is asked for: Wan's frame by frame, without
// work done twice, HunyuanVideo's in parts of five latent frames that overlap.
package ceiling
