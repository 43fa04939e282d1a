// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface IMessageHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 executed, bytes calldata body)
        external
        returns (bool);
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 executed, bytes calldata body)
        external
        returns (bool);
}

/// Sends messages as an event and takes those that enough attesters have signed, each once. The
/// interface, the layout of messages and the words of refusals are those of MessageTransmitterV2 of
/// github.com/circlefin/evm-cctp-contracts; the code is our own, and has no roles but one owner.
contract MessageTransmitter {
    uint32 public constant version = 1;
    uint256 public constant maxMessageBodySize = 8192;
    uint32 private constant FINALIZED = 2000;
    uint256 private constant SIGNATURE_BYTES = 65;
    uint256 private constant BODY = 148;

    uint32 public immutable localDomain;
    address public immutable owner;
    uint256 public immutable signatureThreshold;
    bool public paused;
    address[] private attesters;
    mapping(address => bool) public isEnabledAttester;
    /// 1 once the message with this nonce was received.
    mapping(bytes32 => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    constructor(uint32 domain, address[] memory enabled, uint256 threshold) {
        require(threshold > 0 && threshold <= enabled.length, "Signature threshold exceeds attesters");
        localDomain = domain;
        owner = msg.sender;
        signatureThreshold = threshold;
        attesters = enabled;
        for (uint256 i = 0; i < enabled.length; i++) isEnabledAttester[enabled[i]] = true;
        // Messages that nobody attested have no nonce; none of them may be received.
        usedNonces[bytes32(0)] = 1;
    }

    function setPaused(bool to) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        paused = to;
    }

    function getNumEnabledAttesters() external view returns (uint256) {
        return attesters.length;
    }

    function getEnabledAttester(uint256 index) external view returns (address) {
        return attesters[index];
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external whenNotPaused {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(messageBody.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        bytes memory head = abi.encodePacked(version, localDomain, destinationDomain, bytes32(0));
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes memory parties = abi.encodePacked(sender, recipient, destinationCaller);
        emit MessageSent(bytes.concat(head, parties, abi.encodePacked(minFinalityThreshold, uint32(0)), messageBody));
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        whenNotPaused
        returns (bool)
    {
        _checkSignatures(keccak256(message), attestation);
        require(message.length >= BODY, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 allowed = bytes32(message[108:140]);
        require(
            allowed == bytes32(0) || allowed == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message"
        );
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _hand(message);
        emit MessageReceived(
            msg.sender,
            uint32(bytes4(message[4:8])),
            nonce,
            bytes32(message[44:76]),
            uint32(bytes4(message[144:148])),
            message[BODY:]
        );
        return true;
    }

    function _hand(bytes calldata message) private {
        IMessageHandler handler = IMessageHandler(address(uint160(uint256(bytes32(message[76:108])))));
        uint32 domain = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        uint32 executed = uint32(bytes4(message[144:148]));
        if (executed < FINALIZED) {
            require(
                handler.handleReceiveUnfinalizedMessage(domain, sender, executed, message[BODY:]),
                "handleReceiveUnfinalizedMessage() failed"
            );
        } else {
            require(
                handler.handleReceiveFinalizedMessage(domain, sender, executed, message[BODY:]),
                "handleReceiveFinalizedMessage() failed"
            );
        }
    }

    /// As many signatures as the threshold says, in increasing order of who signed.
    function _checkSignatures(bytes32 digest, bytes calldata attestation) private view {
        require(attestation.length == SIGNATURE_BYTES * signatureThreshold, "Invalid attestation length");
        address last = address(0);
        for (uint256 i = 0; i < signatureThreshold; i++) {
            bytes calldata part = attestation[i * SIGNATURE_BYTES:(i + 1) * SIGNATURE_BYTES];
            address signer = ecrecover(digest, uint8(part[64]), bytes32(part[0:32]), bytes32(part[32:64]));
            require(signer != address(0), "ECDSA: invalid signature");
            require(signer > last, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            last = signer;
        }
    }
}
