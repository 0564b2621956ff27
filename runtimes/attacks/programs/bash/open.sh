set -e
for i in {1..5000}; do exec {fd}</dev/null; done
