#!/usr/bin/env bash
# Checks the learner on this machine's GPU, alone and without a network: the gradients on WebGPU must agree with the
# CPU's, of all parameters and of an adapter, on top of float16 matrices too, and the speed of each is printed (tokens/s);
# then the embedded policy takes a step of a real training there, on the bundled repository, which is trusted.
# Needs node_modules and git; takes well under eight minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
ls /usr/share/vulkan/icd.d /etc/vulkan/icd.d 2>/dev/null || true
timeout 150 node scripts/bench/run.mjs --length 512 --sequences 8 cpu webgpu
timeout 120 node scripts/bench/run.mjs --lora 16 --length 512 --sequences 8 cpu webgpu webgpu/float16

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r test-fixtures/embedded-repo "$folder/repo"
git -C "$folder/repo" init -q
git -C "$folder/repo" add -A
git -C "$folder/repo" -c user.name=check -c user.email=check@localhost commit -qm start
node esbuild.mjs > /dev/null
timeout 40 node dist/cli.cjs tasks build --repo "$folder/repo" --sandbox unconfined --limit 6
timeout 170 node dist/cli.cjs train --repo "$folder/repo" --sandbox unconfined --device webgpu --learning-rate 1e-4 \
  --steps 1 --tasks-per-step 1 --group-size 4 --evaluation-tasks 1 --max-turns 2 --max-tokens-per-turn 60
