package perfmodel_test

import (
	"testing"

	"github.com/ditlens/ditlens/perfmodel"
)

// multiTensor is the name of the kernel that PyTorch runs on lists of tensors.
func multiTensor(functor string) string {
	return "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::" +
		"TensorListMetadata<2>, at::native::(anonymous namespace)::" + functor + ">(int)"
}

// The lists are recorded without element types; the functor of the kernel tells them.
func TestForeach(t *testing.T) {
	by := func(functor string, c *perfmodel.Call) *perfmodel.Call {
		return with(c, func(c *perfmodel.Call) { c.Kernel = multiTensor(functor) })
	}
	const list2 = "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float"
	weights, moments := tensors(f32(128, 128), f32(128)), tensors(f32(128, 128), f32(128))
	const n = 128*128 + 128
	wants(t, by(list2, call("aten::_foreach_add_", weights, moments, number("-0.001"))), n, 3*4*n)
	wants(t, by("BinaryOpScalarFunctor<c10::BFloat16, 1, 1, 0>, std::multiplies<float>, float",
		call("aten::_foreach_mul_", weights, number("0.9"))), n, 2*2*n)
	wants(t, by("PointwiseOpScalarFunctor<float, 3, 3, 0>, std::divides<float>",
		call("aten::_foreach_addcdiv_", weights, moments, moments, number("1"))), 3*n, 4*4*n)
	wants(t, by("UnaryOpFunctor<c10::complex<float>, 1, 1, 0>, std::negate<float>", call("aten::_foreach_neg", weights)), 6*n, 2*8*n)
	wants(t, by("ZeroFunctor<c10::Half, 1, 1, 0>", call("aten::_foreach_zero_", weights)), 0, 2*n)

	indices := tensors(i64(32), i64(32), i64(32), i64(32))
	wants(t, by("UnaryOpFunctor<long, 2, 1, 1>, at::native::Copy<long, long>",
		call("aten::_foreach_copy_", indices, indices, number("False"))), 0, 2*8*128)
	cast := wants(t, by("CopyFunctor<int, long, 2, 1, 1>, at::native::Copy<int, long>",
		call("aten::_foreach_copy_", indices, indices, number("False"))), 0, (4+8)*128)
	if cast.Kind != "cast" {
		t.Errorf("a copy between types is called %q", cast.Kind)
	}
	// bf16 is copied through float
	wants(t, by("UnaryOpFunctor<c10::BFloat16, 2, 1, 1>, at::native::Copy<float, float>",
		call("aten::_foreach_copy_", indices, indices, number("False"))), 0, 2*2*128)

	refused(t, call("aten::_foreach_add_", weights, moments, number("1")), "element type")
	refused(t, by("CopyFunctor<int, mystery, 2, 1, 1>", call("aten::_foreach_copy_", indices, indices)), "element type")
	refused(t, by(list2, call("aten::_foreach_add_")), "list of tensors")
}

func TestTraining(t *testing.T) {
	x := f32(5, 128)
	wants(t, call("aten::mse_loss", x, x, number("1")), 3*640, 2*4*640+4)
	wants(t, call("aten::mse_loss", x, x, number("0")), 3*640, 3*4*640)
	wants(t, call("aten::mse_loss_backward", f32(), x, x, number("1")), 3*640, 3*4*640)
	wants(t, call("aten::threshold_backward", x, x, number("0")), 640, 3*4*640)
	refused(t, call("aten::mse_loss", x, x), "reduction")
	refused(t, call("aten::mse_loss", x, f32(3), number("1")), "broadcast")
}
