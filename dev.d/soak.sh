# The model of the contract against Python, PHP and C, for long: ./dev soak [--seconds N]
# Sourced by ../dev. The last line is for machines: soak: steps=N seconds=N differences=0

soak() {
    setup_programs
    setup_tools
    use_build
    python tests/model/soak.py "$@"
}
