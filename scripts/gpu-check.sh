#!/usr/bin/env bash
# Checks the learner on this machine's GPU, alone and without a network: the gradients on WebGPU must agree with the
# CPU's, and the speed of both is printed. Needs node_modules; takes well under eight minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
ls /usr/share/vulkan/icd.d /etc/vulkan/icd.d 2>/dev/null || true
timeout 420 node scripts/bench/run.mjs --length 512 --sequences 8 cpu webgpu
