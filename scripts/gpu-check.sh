#!/usr/bin/env bash
# Checks the learner on this machine's GPU, alone and without a network: the gradients on WebGPU must agree with the
# CPU's, of all parameters and of an adapter, on top of float16 matrices too, and the speed of each is printed (tokens/s).
# Needs node_modules; takes well under eight minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
ls /usr/share/vulkan/icd.d /etc/vulkan/icd.d 2>/dev/null || true
timeout 300 node scripts/bench/run.mjs --length 512 --sequences 8 cpu webgpu
timeout 180 node scripts/bench/run.mjs --lora 16 --length 512 --sequences 8 cpu webgpu webgpu/float16
