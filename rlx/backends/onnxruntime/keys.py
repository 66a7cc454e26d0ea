"""The options that each provider knows, by its own names: those that change neither device nor
precision.

From the option parsers of onnxruntime 1.24 to 1.32 and of the plugins, and their documentation.
"""

from __future__ import annotations

CUDA = (
    "arena_extend_strategy", "cudnn_conv1d_pad_to_nc1d", "cudnn_conv_algo_search",
    "cudnn_conv_use_max_workspace", "do_copy_in_default_stream", "enable_cuda_graph",
    "enable_skip_layer_norm_strict_mode", "fuse_conv_bias", "gpu_mem_limit", "prefer_nhwc",
    "sdpa_kernel", "tunable_op_enable", "tunable_op_max_tuning_duration_ms",
    "tunable_op_tuning_enable", "use_ep_level_unified_stream",
)  # fmt: skip
TENSORRT = (
    "trt_auxiliary_streams", "trt_build_heuristics_enable", "trt_builder_optimization_level",
    "trt_context_memory_sharing_enable", "trt_cuda_graph_enable", "trt_detailed_build_log",
    "trt_dump_ep_context_model", "trt_dump_subgraphs", "trt_engine_cache_enable",
    "trt_engine_cache_path", "trt_engine_cache_prefix", "trt_engine_decryption_enable",
    "trt_engine_decryption_lib_path", "trt_engine_hw_compatible", "trt_ep_context_embed_mode",
    "trt_ep_context_file_path", "trt_extra_plugin_lib_paths", "trt_force_sequential_engine_build",
    "trt_force_timing_cache", "trt_layer_norm_fp32_fallback", "trt_max_partition_iterations",
    "trt_max_workspace_size", "trt_min_subgraph_size", "trt_onnx_model_folder_path",
    "trt_op_types_to_exclude", "trt_profile_max_shapes", "trt_profile_min_shapes",
    "trt_profile_opt_shapes", "trt_sparsity_enable", "trt_tactic_sources",
    "trt_timing_cache_enable", "trt_timing_cache_path", "trt_weight_stripped_engine_enable",
)  # fmt: skip
MIGRAPHX = (
    "migraphx_arena_extend_strategy", "migraphx_exhaustive_tune", "migraphx_max_compiled_models",
    "migraphx_mem_limit", "migraphx_model_cache_dir", "migraphx_model_max_dynamic_batch",
)  # fmt: skip
COREML = ("EnableOnSubgraphs", "ModelCacheDirectory", "ModelFormat", "ProfileComputePlan",
          "RequireStaticInputShapes", "SpecializationStrategy")  # fmt: skip
QNN = (
    "disable_file_mapped_weights", "dump_json_qnn_graph", "enable_htp_graph_splitting",
    "enable_htp_monolithic_lstm", "enable_htp_shared_memory_allocator",
    "enable_htp_spill_fill_buffer", "enable_vtcm_backup_buffer_sharing",
    "htp_arch", "htp_graph_finalization_optimization_mode", "htp_performance_mode",
    "json_qnn_graph_dir", "offload_graph_io_quantization", "op_packages", "profiling_file_path",
    "profiling_level", "qnn_context_priority", "rpc_control_latency", "skip_qnn_version_check",
    "soc_model", "vtcm_mb",
)  # fmt: skip
VITISAI = ("cache_dir", "cache_key", "config_file", "enable_cache_file_io_in_mem", "encryption_key",
           "external_ep_libs", "log_level", "target", "xclbin")  # fmt: skip
OPENVINO = ("cache_dir", "disable_dynamic_shapes", "enable_causallm", "enable_opencl_throttling",
            "layout", "model_priority", "num_of_threads", "num_streams",
            "reshape_input")  # fmt: skip
DIRECTML = ("disable_metacommands", "enable_dynamic_graph_fusion", "enable_graph_capture",
            "enable_graph_serialization")  # fmt: skip
WEBGPU = (
    "dawnBackendType", "defaultBufferCacheMode", "enableGraphCapture", "enableInt64",
    "enablePIXCapture", "enableRobustness", "maxStorageBufferBindingSize", "powerPreference",
    "preferredLayout", "preserveDevice", "queryResolveBufferCacheMode", "storageBufferCacheMode",
    "uniformBufferCacheMode", "validationMode",
)  # fmt: skip
